import { useSyncExternalStore } from "react";
import { connection } from "./connection";
import type { Line } from "./follower";

export const useLine = (): Line => useSyncExternalStore(connection.watch, connection.current);
