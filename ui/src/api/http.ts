// Every call to the service goes through here: JSON in, JSON out, and failures as sentences a person can read.

import { askForLogin } from "../live/session";
import { V1, V2 } from "./paths";

export { V1, V2 };

export class ApiError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

/** Logging in and out; a refusal there is told where the token was typed. */
export const SESSION = `${V1}/session`;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Options {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export async function call<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const answer = await send(method, path, options);
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export async function callText(path: string): Promise<string> {
  return (await send("GET", path, {})).text();
}

export async function callBlob(path: string): Promise<Blob> {
  return (await send("GET", path, {})).blob();
}

async function send(method: Method, path: string, { body, headers, signal }: Options): Promise<Response> {
  const init: RequestInit = { method, headers: { accept: "application/json", ...headers }, signal: signal ?? null };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, "content-type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (failure) {
    if (signal?.aborted) throw failure;
    throw new ApiError("The service did not answer. Check that it is running and that this machine reaches it.", 0);
  }
  if (answer.status === 401 && path !== SESSION) askForLogin();
  if (!answer.ok) throw new ApiError(reasonIn(await answer.text(), answer.status), answer.status);
  return answer;
}

/** The two documents errors come in: what the service decided, and what never reached a handler. */
export function reasonIn(text: string, status: number): string {
  try {
    const document = JSON.parse(text) as { reason?: string; message?: string };
    const reason = document.reason ?? document.message;
    if (reason) return reason;
  } catch {
    // No JSON: a proxy spoke.
  }
  return `The request failed with status ${status}.`;
}

/** What went wrong, whatever was thrown. */
export function sentence(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}

export function query(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}
