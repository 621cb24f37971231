// The foot of every page: the command and the API call that do the same.

import type { Equivalent } from '../texts/commands.ts'
import { texts } from '../texts/en.ts'
import styles from './cli-foot.module.css'
import { CopyButton } from './copy-button.tsx'

export function CliFoot({ same: { command, call } }: { readonly same: Equivalent }) {
  return (
    <section className={styles.foot} aria-label={texts.foot.title}>
      <Line name={texts.foot.command} text={command} />
      <Line name={texts.foot.call} text={call} />
    </section>
  )
}

function Line({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div className={styles.line}>
      <span className={styles.name}>{name}</span>
      <code className={styles.text}>{text}</code>
      <CopyButton text={text} />
    </div>
  )
}
