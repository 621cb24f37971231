// The replicas on a node; a deployment's name leads to its explanation.

import type { NodeReplica } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { useNodeReplicas } from '../../api/use-nodes.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatCpu } from '../../texts/format.ts'
import styles from './node-page.module.css'

export function NodeReplicas({ id }: { readonly id: string }) {
  const { data, error } = useNodeReplicas(id)
  return (
    <Panel title={texts.nodes.onIt} aside={data === undefined ? null : String(data.length)}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data?.length === 0 ? <p className={styles.none}>{texts.nodes.nothingOnIt}</p> : null}
      <ul>
        {(data ?? []).map((replica) => (
          <Row key={replica.assignmentId} replica={replica} />
        ))}
      </ul>
    </Panel>
  )
}

function Row({
  replica: { kind, name, replica, state, reason, requested, volumes, leaving },
}: {
  readonly replica: NodeReplica
}) {
  const { tenant } = useSession()
  const label = texts.nodes.replica(name, replica)
  return (
    <li className={styles.replica}>
      {kind === 'Deployment' ? (
        <Link
          to="/t/$tenant/deployments/$name/why"
          params={{ tenant, name }}
          search={{}}
          className={styles.link}
          data-row
        >
          {label}
        </Link>
      ) : (
        <strong>{label}</strong>
      )}
      <PhaseBadge word={state} {...(reason === undefined ? {} : { reason })} />
      <span className={styles.muted}>
        {[
          formatCpu(requested.cpuMillis),
          formatBytes(requested.memoryBytes),
          ...volumes,
          ...(leaving ? [texts.nodes.leaving] : []),
        ].join(', ')}
      </span>
    </li>
  )
}
