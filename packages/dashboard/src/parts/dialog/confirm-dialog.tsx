// Asks before a change: its effects, and a button that names it. Where data is lost for good, the name must be typed.

import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { dialogTexts } from '../../texts/en/dialog.ts'
import { ActOutcome, type Outcome } from '../act-outcome.tsx'
import { ConfirmForm } from './confirm-form.tsx'
import { Dialog } from './dialog.tsx'

export interface ConfirmDialogProps {
  readonly title: string
  /** The label of the button; it names what happens. */
  readonly label: string
  /** Why the button is closed; undefined if it is open. */
  readonly closed: string | undefined
  readonly outcome: Outcome
  /** The name that must be typed. */
  readonly typed?: string
  /** False until the effects are known. */
  readonly ready?: boolean
  /** The effects of the change. */
  readonly children: ReactNode
  onConfirm(): void
  onClose(): void
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, label, closed, outcome, typed, ready = true, children, onConfirm, onClose } = props
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <ActOutcome outcome={outcome} />
      <ConfirmForm
        label={label}
        typed={typed}
        closed={closed}
        waiting={!ready || outcome.kind === 'running'}
        onConfirm={onConfirm}
        beside={
          <Button variant="default" onClick={onClose}>
            {dialogTexts.back}
          </Button>
        }
      />
    </Dialog>
  )
}
