// The first thing a newcomer sees: what will happen, in three steps, and where to begin.
import {
  Button,
  EmptyState,
  EmptyStateActions,
  EmptyStateBody,
  EmptyStateFooter,
  List,
  ListItem,
} from "@patternfly/react-core";
import ClusterIcon from "@patternfly/react-icons/dist/esm/icons/cluster-icon";
import { follow, paths } from "../../route";

export function NoClusters() {
  return (
    <EmptyState headingLevel="h2" titleText="Install your first cluster" icon={ClusterIcon} id="no-clusters">
      <EmptyStateBody>
        <List component="ol" className="fl-steps">
          <ListItem>Name the cluster and choose its version.</ListItem>
          <ListItem>Boot your machines from the image this service makes. They appear here by themselves.</ListItem>
          <ListItem>Fix what the checks find, with a click where possible, and install.</ListItem>
        </List>
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          <Button component="a" href={paths.newCluster} onClick={follow}>
            Create cluster
          </Button>
        </EmptyStateActions>
        <EmptyStateActions>
          <Button component="a" variant="link" href="/api/docs">
            Use the API instead
          </Button>
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}
