// The drawing of a chart: from zero, units on the axis, gaps stay gaps.

import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useScheme } from '../../theme/scheme.ts'
import { dashOf } from './chart-colors.ts'
import type { ChartWindow, Series } from './chart-data.ts'

interface Props {
  readonly window: ChartWindow
  readonly series: readonly Series[]
  format(value: number): string
}

const HEIGHT = 150
const AXIS_PX = 76
/** Room above the highest value. */
const HEADROOM = 1.1
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const clock = (seconds: number): string => CLOCK.format(seconds * 1000)

export function Plot({ window, series, format }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const scheme = useScheme()
  const data = dataOf(window, series)
  const latest = useRef({ data, format })
  latest.current = { data, format }
  const labels = series.map(({ label }) => label).join('\n')
  // The drawing is made again for other lines or another scheme; new values only replace the old ones.
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const colors = colorsOf(element, scheme)
    const drawn = new uPlot(
      optionsOf(element.clientWidth, labels.split('\n'), colors, (value) => latest.current.format(value)),
      latest.current.data,
      element,
    )
    plot.current = drawn
    const observer = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.destroy()
      plot.current = null
    }
  }, [labels, scheme])
  useEffect(() => plot.current?.setData(data))
  return <div ref={place} />
}

function dataOf({ fromMs, stepMs }: ChartWindow, series: readonly Series[]): uPlot.AlignedData {
  const length = Math.max(0, ...series.map(({ values }) => values.length))
  const times = Array.from({ length }, (_, at) => (fromMs + at * stepMs) / 1000)
  return [times, ...series.map(({ values }) => [...values])]
}

interface Colors {
  readonly lines: readonly string[]
  readonly text: string
  readonly grid: string
}

/** A canvas needs the colors themselves, not the names of variables. `_scheme`: they change with it. */
function colorsOf(element: Element, _scheme: string): Colors {
  const style = getComputedStyle(element)
  const read = (name: string): string => style.getPropertyValue(name).trim()
  return {
    lines: [1, 2, 3, 4].map((at) => read(`--chart-${at}`)),
    text: read('--muted'),
    grid: read('--line'),
  }
}

function optionsOf(
  width: number,
  labels: readonly string[],
  { lines, text, grid }: Colors,
  format: (value: number) => string,
): uPlot.Options {
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * HEADROOM : 1] } },
    axes: [
      { ...axis, values: (_plot, seconds) => seconds.map(clock) },
      {
        ...axis,
        size: AXIS_PX,
        splits: (_plot, _axis, least, top) => [least, top / HEADROOM / 2, top / HEADROOM],
        values: (_plot, values) => values.map(format),
      },
    ],
    series: [
      {},
      ...labels.map((label, at) => ({
        label,
        stroke: lines[at % lines.length] ?? text,
        width: 1.5,
        dash: [...dashOf(at)],
        points: { show: false },
      })),
    ],
  }
}
