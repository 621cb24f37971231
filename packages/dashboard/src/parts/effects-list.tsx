// The effects of a planned change, line by line.

import type { Effects } from '@holdfast/contract'
import { effectLines } from './effect-lines.ts'
import styles from './effects-list.module.css'
import { Icon } from './icon.tsx'
import { toneOf } from './word-tones.ts'

interface Props {
  readonly effects: Effects
  /** Shown if nothing that runs would change. */
  readonly none: string
}

export function EffectsList({ effects, none }: Props) {
  const lines = effectLines(effects)
  if (lines.length === 0) return <p className={styles.none}>{none}</p>
  return (
    <ul className={styles.list}>
      {lines.map(({ severity, text, deployment }) => (
        <li key={`${deployment} ${text}`} className={styles.line} data-tone={toneOf(severity).tone}>
          <span className={styles.icon}>
            <Icon name={toneOf(severity).icon} size={14} />
          </span>
          <span>
            {deployment === undefined ? null : <strong>{deployment}: </strong>}
            {text}
          </span>
        </li>
      ))}
    </ul>
  )
}
