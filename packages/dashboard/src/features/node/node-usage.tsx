// The usage of a machine in the last hour, beside the resources that its replicas request.

import type { Node } from '@holdfast/contract'
import { explainFailure } from '../../api/failure.ts'
import { useNodeMetrics } from '../../api/metrics/use-metrics.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatCpu } from '../../texts/format.ts'
import styles from './node-page.module.css'

const words = texts.charts

export function NodeUsage({ node: { id, requested } }: { readonly node: Node }) {
  const { data, error } = useNodeMetrics(id)
  const window = data === undefined ? undefined : { fromMs: Date.parse(data.from), stepMs: data.step * 1000 }
  const beside = (values: readonly (number | null)[], amount: number | undefined) => [
    { label: words.used, values },
    ...(amount === undefined ? [] : [{ label: words.requested, values: values.map(() => amount) }]),
  ]
  return (
    <Panel title={words.usage} aside={words.lastHour}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={8} /> : null}
      {data === undefined || data.unreachable.length === 0 ? null : (
        <p className={styles.none}>{words.unreachable(data.unreachable)}</p>
      )}
      {data === undefined || window === undefined ? null : (
        <div className={styles.charts}>
          <Chart
            title={words.processor}
            window={window}
            series={beside(data.node.cpuMillis, requested?.cpuMillis)}
            format={formatCpu}
          />
          <Chart
            title={words.memory}
            window={window}
            series={beside(data.node.memoryBytes, requested?.memoryBytes)}
            format={formatBytes}
          />
        </div>
      )}
    </Panel>
  )
}
