import "./theme/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { connection } from "./live/connection";
import { isNotLoaded } from "./parts/Boundary";
import { Shell } from "./Shell";
import { startTheme } from "./theme/theme";

startTheme();
connection.start();
const root = document.getElementById("root");
if (root) {
  createRoot(root, { onCaughtError: (error) => isNotLoaded(error) || console.error(error) }).render(
    <StrictMode>
      <Shell />
    </StrictMode>,
  );
}
