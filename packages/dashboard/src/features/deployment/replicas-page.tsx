// The replicas of a deployment: where each is, in which state, and why it is not ready.

import type { PlacementEntry, ReplicaMetrics } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useDeploymentMetrics } from '../../api/metrics/use-metrics.ts'
import { useSession } from '../../api/session.tsx'
import { usePlacements } from '../../api/use-deployments.ts'
import { Sparkline } from '../../parts/charts/sparkline.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatCpu } from '../../texts/format.ts'
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
  texts.charts.cpu,
  texts.charts.memory,
  texts.replicas.reason,
  texts.replicas.open,
]

export function ReplicasPage() {
  const { name } = route.useParams()
  const { data, error } = usePlacements(name)
  return (
    <>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={4} /> : null}
      {data?.length === 0 ? <p className={styles.muted}>{texts.replicas.none}</p> : null}
      {data === undefined || data.length === 0 ? null : <ReplicaTable name={name} entries={data} />}
      <CliFoot same={equivalents.replicas(name)} />
    </>
  )
}

interface TableProps {
  readonly name: string
  readonly entries: readonly PlacementEntry[]
}

function ReplicaTable({ name, entries }: TableProps) {
  const { data: metrics } = useDeploymentMetrics(name)
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
          <Row
            key={`${entry.replica}-${entry.nodeId}-${entry.revision}`}
            name={name}
            entry={entry}
            usage={metrics?.series.find((each) => isOf(each, entry))}
          />
        ))}
      </tbody>
    </table>
  )
}

const isOf = (series: ReplicaMetrics, { replica, nodeId, revision }: PlacementEntry): boolean =>
  series.replica === replica && series.nodeId === nodeId && series.revision === revision

interface RowProps {
  readonly name: string
  readonly entry: PlacementEntry
  /** The usage of this replica; undefined until it was read, or without a sample. */
  readonly usage: ReplicaMetrics | undefined
}

function Row({ name, entry, usage }: RowProps) {
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
      <td data-head={texts.charts.cpu}>
        <Usage values={usage?.cpuMillis} now={usage?.lastMinute.cpuMillis} line={0} format={formatCpu} />
      </td>
      <td data-head={texts.charts.memory}>
        <Usage
          values={usage?.memoryBytes}
          now={usage?.lastMinute.memoryBytes}
          line={1}
          format={formatBytes}
        />
      </td>
      <td data-head={texts.replicas.reason} className={styles.reason}>
        {reason === undefined ? null : <strong>{wordsOf(reason)}</strong>}
        {cause === undefined ? null : ` ${cause}`}
      </td>
      <td data-head={texts.replicas.open}>
        <Links name={name} replica={replica} />
      </td>
    </tr>
  )
}

/** The log and the terminal of this replica. */
function Links({ name, replica }: { readonly name: string; readonly replica: number }) {
  const { tenant } = useSession()
  const params = { tenant, name }
  return (
    <span className={styles.links}>
      <Link
        to="/t/$tenant/deployments/$name/logs"
        params={params}
        search={{ replica }}
        aria-label={texts.replicas.logsOf(replica)}
      >
        {texts.pages.logs}
      </Link>
      <Link
        to="/t/$tenant/deployments/$name/terminal"
        params={params}
        search={{ replica }}
        aria-label={texts.replicas.terminalOf(replica)}
      >
        {texts.pages.terminal}
      </Link>
    </span>
  )
}

interface UsageProps {
  readonly values: readonly (number | null)[] | undefined
  /** The mean of the last minute. */
  readonly now: number | null | undefined
  readonly line: number
  format(value: number): string
}

function Usage({ values, now, line, format }: UsageProps) {
  if (values === undefined || now === undefined || now === null) return null
  return (
    <span className={styles.usage}>
      <span>{format(now)}</span>
      <Sparkline values={values} line={line} />
    </span>
  )
}
