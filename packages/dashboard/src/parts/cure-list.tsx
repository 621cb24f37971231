// Remedies, the cheapest first, each with the button that does it, or with the pages that help and the words how to do it.

import { Button } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { texts } from '../texts/en.ts'
import styles from './cure-list.module.css'
import { Panel } from './panel.tsx'

export interface Remedy {
  readonly text: string
  /** The button that carries it out, and names what it does; absent if no button can. */
  readonly act?: ReactNode
  /** Links to the pages that help. */
  readonly pages?: ReactNode
  /** How to carry it out by hand. */
  readonly how: readonly string[]
}

export function CureList({ remedies }: { readonly remedies: readonly Remedy[] }) {
  return (
    <Panel title={texts.why.remedies} aside={texts.why.remediesNote}>
      <ol className={styles.list}>
        {remedies.map((remedy, at) => (
          <Row key={remedy.text} remedy={remedy} number={at + 1} />
        ))}
      </ol>
      {remedies.length === 0 ? <p className={styles.none}>{texts.why.noRemedy}</p> : null}
    </Panel>
  )
}

function Row({
  remedy: { text, act, pages, how },
  number,
}: {
  readonly remedy: Remedy
  readonly number: number
}) {
  const [opened, setOpened] = useState(false)
  const id = useId()
  return (
    <li className={styles.row}>
      <span className={styles.number}>{number}</span>
      <div className={styles.body}>
        {act === undefined ? <span className={styles.text}>{text}</span> : null}
        {pages}
        {act ??
          (how.length === 0 ? null : (
            <Button
              variant="default"
              size="compact-sm"
              aria-expanded={opened}
              aria-controls={id}
              onClick={() => setOpened(!opened)}
            >
              {opened ? texts.why.hideHow : texts.why.how}
            </Button>
          ))}
        {opened ? (
          <ul id={id} className={styles.how}>
            {how.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ul>
        ) : null}
      </div>
    </li>
  )
}
