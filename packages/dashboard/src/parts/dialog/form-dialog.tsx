// A dialog with fields. The browser keeps the typed values, and the form hands them over when it is sent. Rejections of the
// server are shown at their field, and all others above the button.

import type { Rejection } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { createContext, type FormEvent, type ReactNode, use } from 'react'
import { dialogTexts } from '../../texts/en/dialog.ts'
import { ActOutcome, type Outcome } from '../act-outcome.tsx'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  readonly label: string
  readonly closed: string | undefined
  readonly outcome: Outcome
  /** The names of the fields that show their own rejections. */
  readonly fields: readonly string[]
  readonly children: ReactNode
  onSend(values: FormData): void
  onClose(): void
}

const FaultsContext = createContext<readonly Rejection[]>([])

/** The reason for which the server rejected a field; undefined if it accepted it. */
export function useFault(field: string): string | undefined {
  return use(FaultsContext).find((each) => isOf(field, each))?.why
}

const isOf = (field: string, rejection: Rejection): boolean =>
  rejection.field === field ||
  rejection.field.startsWith(`${field}.`) ||
  rejection.field.startsWith(`${field}[`)

export function FormDialog({ title, label, closed, outcome, fields, children, onSend, onClose }: Props) {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (closed !== undefined) return
    const values = new FormData(event.currentTarget)
    for (const input of event.currentTarget.querySelectorAll<HTMLInputElement>('input[type=password]'))
      input.value = ''
    onSend(values)
  }
  const rejections = outcome.kind === 'failed' ? outcome.failure.rejections : []
  const others = rejections.filter((each) => !fields.some((field) => isOf(field, each)))
  const atFields = rejections.length > 0 && others.length === 0
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={send} noValidate>
        <FaultsContext value={rejections}>{children}</FaultsContext>
        {atFields ? (
          <p role="alert">{dialogTexts.seeFields}</p>
        ) : (
          <ActOutcome outcome={withOnly(outcome, others)} />
        )}
        <div className={styles.buttons}>
          <Button type="submit" disabled={closed !== undefined || outcome.kind === 'running'}>
            {label}
          </Button>
          <Button variant="default" onClick={onClose}>
            {dialogTexts.back}
          </Button>
          {closed === undefined ? null : <span className={styles.note}>{closed}</span>}
        </div>
      </form>
    </Dialog>
  )
}

function withOnly(outcome: Outcome, rejections: readonly Rejection[]): Outcome {
  if (outcome.kind !== 'failed') return outcome
  const { failure } = outcome
  return { kind: 'failed', failure: { ...failure, title: rejections[0]?.why ?? failure.title, rejections } }
}
