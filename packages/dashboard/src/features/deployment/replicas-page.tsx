// The replicas of a deployment: where each is, in which state, and why it is not ready.

import type { PlacementEntry } from '@holdfast/contract'
import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { usePlacements } from '../../api/use-deployments.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { wordsOf } from '../../texts/show-value.ts'
import styles from './replicas-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/replicas')
const HEADS = [
  texts.replicas.replica,
  texts.replicas.state,
  texts.replicas.node,
  texts.replicas.revision,
  texts.replicas.restarts,
  texts.replicas.since,
  texts.replicas.reason,
]

export function ReplicasPage() {
  const { name } = route.useParams()
  const { data, error } = usePlacements(name)
  return (
    <>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={4} /> : null}
      {data?.length === 0 ? <p className={styles.muted}>{texts.replicas.none}</p> : null}
      {data === undefined || data.length === 0 ? null : <ReplicaTable entries={data} />}
      <CliFoot same={equivalents.replicas(name)} />
    </>
  )
}

function ReplicaTable({ entries }: { readonly entries: readonly PlacementEntry[] }) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          {HEADS.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={`${entry.replica}-${entry.nodeId}-${entry.revision}`} entry={entry} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ entry }: { readonly entry: PlacementEntry }) {
  const { replica, state, nodeName, revision, restarts = 0, startedAt, reason, cause } = entry
  return (
    <tr>
      <td data-head={texts.replicas.replica}>{replica}</td>
      <td data-head={texts.replicas.state}>
        <PhaseBadge word={state} />
      </td>
      <td data-head={texts.replicas.node}>{nodeName}</td>
      <td data-head={texts.replicas.revision}>{revision}</td>
      <td data-head={texts.replicas.restarts}>{restarts}</td>
      <td data-head={texts.replicas.since}>{startedAt === null ? null : <Moment iso={startedAt} age />}</td>
      <td data-head={texts.replicas.reason} className={styles.reason}>
        {reason === undefined ? null : <strong>{wordsOf(reason)}</strong>} {cause}
      </td>
    </tr>
  )
}
