// A chart over time with its current value, its legend, and the same numbers as a table. The drawing is loaded when the first
// chart is shown.

import { lazy, Suspense } from 'react'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import styles from './chart.module.css'
import { colorOf, dashOf } from './chart-colors.ts'
import { type ChartWindow, type Series, summarize, tableRows } from './chart-data.ts'

const Plot = lazy(async () => ({ default: (await import('./plot.tsx')).Plot }))
const words = texts.charts

interface Props {
  readonly title: string
  readonly window: ChartWindow
  readonly series: readonly Series[]
  /** Puts a value into words with its unit. */
  format(value: number): string
}

export function Chart({ title, window, series, format }: Props) {
  const [first] = series
  const { last, highest } = summarize(first?.values ?? [])
  const show = (value: number | null): string => (value === null ? words.noSample : format(value))
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.head}>
        <span className={styles.now}>
          {title} {show(last)}
        </span>
        {series.map(({ label }, at) => (
          <span key={label} className={styles.legend}>
            <svg width="22" height="4" aria-hidden="true">
              <path d="M0 2H22" stroke={colorOf(at)} strokeWidth="2" strokeDasharray={dashOf(at).join(' ')} />
            </svg>
            {label}
          </span>
        ))}
      </figcaption>
      <div className={styles.plot} role="img" aria-label={words.summary(title, show(last), show(highest))}>
        <Suspense>
          <Plot window={window} series={series} format={format} />
        </Suspense>
      </div>
      <ChartTable title={title} window={window} series={series} show={show} />
    </figure>
  )
}

interface TableProps extends Pick<Props, 'title' | 'window' | 'series'> {
  show(value: number | null): string
}

function ChartTable({ title, window, series, show }: TableProps) {
  return (
    <details className={styles.table}>
      <summary>{words.asTable(title)}</summary>
      <table>
        <thead>
          <tr>
            {[words.time, ...series.map(({ label }) => label)].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tableRows(window, series).map(({ atMs, values }) => (
            <tr key={atMs}>
              <td>{formatTime(new Date(atMs).toISOString(), atMs)}</td>
              {values.map((value, at) => (
                <td key={series[at]?.label}>{show(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
