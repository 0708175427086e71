import "./theme/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { connection } from "./live/connection";
import { Shell } from "./Shell";
import { startTheme } from "./theme/theme";

startTheme();
connection.start();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Shell />
    </StrictMode>,
  );
}
