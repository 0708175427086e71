// What surrounds every page: masthead, navigation, warnings about the setup, notes.
import {
  EmptyState,
  EmptyStateBody,
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadLogo,
  MastheadMain,
  MastheadToggle,
  Nav,
  NavItem,
  NavList,
  Page,
  PageSidebar,
  PageSidebarBody,
  PageToggleButton,
  SkipToContent,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
} from "@patternfly/react-core";
import { lazy, Suspense, useEffect } from "react";
import { useNeedsLogin } from "./live/session";
import { Boundary } from "./parts/Boundary";
import { LineBanner, LineMark } from "./parts/LineMark";
import { Link } from "./parts/Link";
import { Notes } from "./parts/notes";
import { SignOut } from "./parts/SignOut";
import { ThemeSwitch } from "./parts/ThemeSwitch";
import { Waiting } from "./parts/Waiting";
import { ClustersPage } from "./pages/clusters/ClustersPage";
import { follow, paths, type Route, routeOf, useAddress } from "./route";

const ClusterPage = lazy(() => import("./pages/cluster/ClusterPage"));
const NewClusterPage = lazy(() => import("./pages/wizard/NewClusterPage"));
const WizardPage = lazy(() => import("./pages/wizard/WizardPage"));
const InfraEnvsPage = lazy(() => import("./pages/infra-envs/InfraEnvsPage"));
const InfraEnvPage = lazy(() => import("./pages/infra-envs/InfraEnvPage"));
const LoginPage = lazy(() => import("./pages/login/LoginPage"));
const SettingsPage = lazy(() => import("./pages/settings/SettingsPage"));

const NAVIGATION: readonly (readonly [string, string, readonly Route["page"][]])[] = [
  ["Clusters", paths.clusters, ["clusters", "cluster", "new-cluster", "wizard"]],
  ["Infrastructure", paths.infraEnvs, ["infra-envs", "infra-env"]],
  ["Settings", paths.settings, ["settings"]],
];
const MAIN = "main";

export function Shell() {
  const address = useAddress();
  const [path = "", search = ""] = address.split("?");
  const route = routeOf(path, search);
  const needsLogin = useNeedsLogin();
  useEffect(() => {
    document.title = `${needsLogin ? "Log in" : TITLES[route.page]} · Firstlight`;
  }, [route.page, needsLogin]);
  return (
    <Page
      masthead={<Head />}
      sidebar={<Side page={route.page} />}
      isManagedSidebar
      mainContainerId={MAIN}
      skipToContent={<SkipToContent href={`#${MAIN}`}>Skip to content</SkipToContent>}
    >
      {!needsLogin && <LineBanner />}
      <Boundary place={path}>
        <Suspense fallback={<Waiting />}>{needsLogin ? <LoginPage /> : <Shown route={route} />}</Suspense>
      </Boundary>
      <Notes />
    </Page>
  );
}

const TITLES: Readonly<Record<Route["page"], string>> = {
  clusters: "Clusters",
  "new-cluster": "New cluster",
  cluster: "Cluster",
  wizard: "Set up cluster",
  "infra-envs": "Infrastructure",
  "infra-env": "Infrastructure environment",
  settings: "Settings",
  unknown: "Not found",
};

function Shown({ route }: { readonly route: Route }) {
  switch (route.page) {
    case "clusters":
      return <ClustersPage />;
    case "new-cluster":
      return <NewClusterPage />;
    case "cluster":
      return <ClusterPage key={route.id} id={route.id} tab={route.tab} host={route.host} />;
    case "wizard":
      return <WizardPage key={route.id} id={route.id} step={route.step} />;
    case "infra-envs":
      return <InfraEnvsPage />;
    case "infra-env":
      return <InfraEnvPage key={route.id} id={route.id} host={route.host} />;
    case "settings":
      return <SettingsPage />;
    case "unknown":
      return <Lost />;
  }
}

function Lost() {
  return (
    <EmptyState headingLevel="h1" titleText="There is no such page">
      <EmptyStateBody>
        The address may be mistyped. <Link to={paths.clusters}>All clusters</Link>
      </EmptyStateBody>
    </EmptyState>
  );
}

function Head() {
  const needsLogin = useNeedsLogin();
  return (
    <Masthead>
      <MastheadMain>
        <MastheadToggle>
          <PageToggleButton isHamburgerButton aria-label="Navigation" id="nav-toggle" />
        </MastheadToggle>
        <MastheadBrand>
          <MastheadLogo href={paths.clusters} onClick={follow} className="fl-brand">
            <img src="/favicon.svg" alt="" width="28" height="28" />
            <span>Firstlight</span>
          </MastheadLogo>
        </MastheadBrand>
      </MastheadMain>
      <MastheadContent>
        <Toolbar isStatic>
          <ToolbarContent>
            <ToolbarGroup align={{ default: "alignEnd" }} gap={{ default: "gapSm" }}>
              {!needsLogin && (
                <ToolbarItem>
                  <LineMark />
                </ToolbarItem>
              )}
              <ToolbarItem>
                <ThemeSwitch />
              </ToolbarItem>
              <SignOut />
              <ToolbarItem visibility={{ default: "hidden", md: "visible" }}>
                <a href="/api/docs" id="api-docs">
                  API
                </a>
              </ToolbarItem>
            </ToolbarGroup>
          </ToolbarContent>
        </Toolbar>
      </MastheadContent>
    </Masthead>
  );
}

function Side({ page }: { readonly page: Route["page"] }) {
  return (
    <PageSidebar>
      <PageSidebarBody>
        <Nav aria-label="Main">
          <NavList>
            {NAVIGATION.map(([label, to, pages]) => (
              <NavItem key={to} to={to} itemId={to} isActive={pages.includes(page)} onClick={follow}>
                {label}
              </NavItem>
            ))}
          </NavList>
        </Nav>
      </PageSidebarBody>
    </PageSidebar>
  );
}
