// A small line beside its current value. The value is text, so the line itself says nothing to screen readers.

import styles from './chart.module.css'
import { colorOf } from './chart-colors.ts'
import { sparklinePath, type Values } from './chart-data.ts'

interface Props {
  readonly values: Values
  /** The color of the line, by its number. */
  readonly line: number
}

const WIDTH = 96
const HEIGHT = 20

export function Sparkline({ values, line }: Props) {
  return (
    <svg className={styles.spark} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={sparklinePath(values, WIDTH, HEIGHT)} fill="none" stroke={colorOf(line)} strokeWidth="1.5" />
    </svg>
  )
}
