// Another machine for the place of one that failed: one that waits in a pool and belongs to nobody.
import { FormGroup, FormSelect, FormSelectOption } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { replaceHost } from "../../api/actions";
import { call, query, V1 } from "../../api/http";
import type { HostPage, HostRow } from "../../api/own";
import { useInfraEnvs } from "../../api/reads";
import { memory, storage } from "../../numbers";
import { Dialog } from "../Dialog";
import { note } from "../notes";
import { Waiting } from "../Waiting";

const FREE = "known-unbound";
const MOST = 200;

function useFreeHosts(): readonly HostRow[] | undefined {
  const infraEnvs = useInfraEnvs().data;
  const [found, setFound] = useState<readonly HostRow[]>();
  const ids = infraEnvs?.map(({ id }) => id).join(" ");
  useEffect(() => {
    if (ids === undefined) return undefined;
    let current = true;
    const pages = ids.split(" ").filter(Boolean).map((id) => call<HostPage>("GET", `${V1}/infra-envs/${id}/hosts${query({ status: FREE, limit: MOST })}`));
    Promise.allSettled(pages).then((answers) => {
      if (current) setFound(answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value.hosts : [])));
    });
    return () => {
      current = false;
    };
  }, [ids]);
  return found;
}

export function ReplaceDialog({ row, onClose }: { readonly row: Pick<HostRow, "id" | "infra_env_id" | "name">; readonly onClose: () => void }) {
  const free = useFreeHosts();
  const [chosen, setChosen] = useState("");
  const target = free?.find(({ id }) => id === chosen) ?? free?.[0];
  const replace = async (): Promise<void> => {
    if (!target) return;
    const { name } = await replaceHost(row, target);
    note("success", `${name} takes the place of the machine that failed.`);
  };
  return (
    <Dialog id="replace" title={`Replace ${row.name} by another machine`} action="Replace" ready={target !== undefined} onAct={replace} onClose={onClose}>
      {!free && <Waiting />}
      {free?.length === 0 && (
        <p>No machine is free. Boot one from the image of this cluster: it waits in the pool, and can be chosen here then.</p>
      )}
      {target && (
        <>
          <p>It takes over name and role, and its installation disk is overwritten.</p>
          <FormGroup label="Machine" fieldId="replacement">
            <FormSelect id="replacement" value={target.id} onChange={(_, value) => setChosen(value)}>
              {free?.map((one) => (
                <FormSelectOption
                  key={one.id}
                  value={one.id}
                  label={`${one.name} (${one.cpus} CPUs, ${memory(one.memory_bytes)}, ${storage(one.disk_bytes)})`}
                />
              ))}
            </FormSelect>
          </FormGroup>
        </>
      )}
    </Dialog>
  );
}
