import { useSyncExternalStore } from "react";
import { connection, type Line } from "./connection";

export const useLine = (): Line => useSyncExternalStore(connection.watch, connection.current);
