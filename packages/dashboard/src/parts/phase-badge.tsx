// A word of state with its shape.

import { wordsOf } from '../texts/show-value.ts'
import { Icon } from './icon.tsx'
import styles from './phase-badge.module.css'
import { toneOf } from './word-tones.ts'

interface Props {
  /** The word that decides the shape. */
  readonly word: string
  /** Shown instead of the word. */
  readonly label?: string
  /** Why, in a name of the server such as `update_paused`; its words are shown in parentheses. */
  readonly reason?: string
}

export function PhaseBadge({ word, label = word, reason }: Props) {
  const { tone, icon } = toneOf(word)
  return (
    <span className={styles.badge} data-tone={tone}>
      <Icon name={icon} size={14} />
      <span>
        {label}
        {reason === undefined || reason === '' ? null : (
          <span className={styles.reason}> ({wordsOf(reason)})</span>
        )}
      </span>
    </span>
  )
}
