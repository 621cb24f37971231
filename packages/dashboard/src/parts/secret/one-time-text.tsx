// A secret that the server answered once: copied unseen, shown on request, gone when the page or dialog is left. It is in no
// attribute.

import { Button } from '@mantine/core'
import { useState } from 'react'
import { texts } from '../../texts/en.ts'
import styles from './one-time-text.module.css'

const words = texts.oneTime

interface Props {
  /** Names the secret for screen readers. */
  readonly label: string
  /** Undefined if the answer that contained it was lost. */
  readonly text: string | undefined
  /** The remedy for a lost one. */
  readonly lost: string
}

export function OneTimeText({ label, text, lost }: Props) {
  return text === undefined ? <p role="alert">{lost}</p> : <Present label={label} text={text} />
}

function Present({ label, text }: { readonly label: string; readonly text: string }) {
  const [shown, setShown] = useState(false)
  const [copied, setCopied] = useState<boolean>()
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  return (
    <section className={styles.box} aria-label={label}>
      <div className={styles.buttons}>
        <Button size="compact-sm" onClick={copy}>
          {words.copy}
        </Button>
        <Button variant="default" size="compact-sm" aria-expanded={shown} onClick={() => setShown(!shown)}>
          {shown ? words.hide : words.show}
        </Button>
        <span role="status">{copied === undefined ? null : copied ? words.copied : words.refused}</span>
      </div>
      {shown ? (
        <pre className={styles.text}>
          <code>{text}</code>
        </pre>
      ) : null}
    </section>
  )
}
