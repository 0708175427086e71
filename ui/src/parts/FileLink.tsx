// A small file of the service to take away: saved by the browser, or the reason why not, without leaving the page.
import type { MouseEvent } from "react";
import { callBlob } from "../api/http";
import { attempt } from "./notes";

interface Props {
  readonly href: string;
  readonly name: string;
  readonly className?: string;
}

export function FileLink({ href, name, className = "" }: Props) {
  return (
    <a href={href} className={className} onClick={(event) => fetched(event, href, name)}>
      {name}
    </a>
  );
}

export function fetched(event: MouseEvent<HTMLElement>, href: string, name: string): void {
  event.preventDefault();
  void attempt(async () => save(await callBlob(href), name), `${name} cannot be had`);
}

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
