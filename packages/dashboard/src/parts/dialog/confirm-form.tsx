// The end of a question: the name to type if data or a service would be gone for good, the button that names the change, and
// why it is closed. A wrong name is explained and sends nothing.

import { Button, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { dialogTexts } from '../../texts/en/dialog.ts'
import styles from './confirm-form.module.css'

interface Props {
  /** The label of the button; it names what happens. */
  readonly label: string
  /** The name that must be typed; absent if the effects are enough. */
  readonly typed?: string | undefined
  /** Why the button is closed; undefined if it is open. */
  readonly closed: string | undefined
  /** True while the server is asked, or before the change can be confirmed. */
  readonly waiting: boolean
  /** Other buttons beside it, such as the way back. */
  readonly beside?: ReactNode
  onConfirm(): void
}

export function ConfirmForm({ label, typed, closed, waiting, beside, onConfirm }: Props) {
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (closed !== undefined || waiting) return
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim()
    const isRight = typed === undefined || name === typed
    setWrong(!isRight)
    if (isRight) onConfirm()
  }
  return (
    <form className={styles.form} autoComplete="off" onSubmit={submit}>
      {typed === undefined ? null : (
        <TextInput
          name="name"
          label={dialogTexts.typeName(typed)}
          className={styles.name}
          spellCheck={false}
          data-autofocus
          error={wrong ? dialogTexts.wrongName(typed) : null}
        />
      )}
      <div className={styles.buttons}>
        <Button
          type="submit"
          {...(typed === undefined ? {} : { className: styles.danger })}
          disabled={waiting}
          {...(closed === undefined ? {} : { 'data-disabled': true, 'aria-disabled': true })}
        >
          {label}
        </Button>
        {beside}
        {closed === undefined ? null : <span className={styles.note}>{closed}</span>}
      </div>
    </form>
  )
}
