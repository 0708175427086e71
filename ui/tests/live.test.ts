import { describe, expect, it } from "vitest";
import { parseChunk } from "../src/live/sse";
import { CLUSTERS, INFRA_ENVS, tagsOf } from "../src/live/tags";

describe("server-sent events", () => {
  it("keeps what is unfinished for the next chunk", () => {
    const first = parseChunk("retry: 2000\nid: 7\n\nid: 8\ndata: {\"a\"", "");
    expect(first).toEqual({ messages: [], rest: "id: 8\ndata: {\"a\"", lastId: "7" });
    const second = parseChunk(`${first.rest}:1}\n\n`, first.lastId);
    expect(second).toEqual({ messages: [{ id: "8", data: '{"a":1}' }], rest: "", lastId: "8" });
  });

  it("passes over comments but takes their number", () => {
    expect(parseChunk(": still here\nid: 9\n\n", "8")).toEqual({ messages: [], rest: "", lastId: "9" });
  });

  it("joins lines of data and takes any line end", () => {
    expect(parseChunk("data: a\r\ndata: b\r\n\r\n", "1").messages).toEqual([{ id: "1", data: "a\nb" }]);
  });
});

it("a change of one thing is a change of their list", () => {
  expect(tagsOf(["cluster:1", "infra-env:2", "host:3"])).toEqual([
    "cluster:1",
    CLUSTERS,
    "infra-env:2",
    INFRA_ENVS,
    "host:3",
  ]);
});
