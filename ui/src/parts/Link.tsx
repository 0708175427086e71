import type { ReactNode } from "react";
import { follow } from "../route";

/** A link inside the pages: an ordinary one for new tabs, without a reload for a plain click. */
export function Link({ to, children, id }: { readonly to: string; readonly children: ReactNode; readonly id?: string }) {
  return (
    <a href={to} onClick={follow} {...(id ? { id } : {})}>
      {children}
    </a>
  );
}
