// Asks before a change: what the server says it would do, and a button that names it. Where data is lost for good, the name
// must be typed.

import type { Effects } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { resourceTexts } from '../../texts/en/resources.ts'
import { EffectsList } from '../effects-list.tsx'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import { Notice } from '../notice.tsx'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'
import { type DialogOutcome, type FailedText, OutcomeLine } from './outcome.tsx'

interface Props {
  readonly title: string
  /** The label of the button; it names what happens. */
  readonly label: string
  /** Why the button is closed; undefined if it is open. */
  readonly closed: string | undefined
  /** Shown if nothing that runs would change. */
  readonly none: string
  /** False while the change is not chosen yet. */
  readonly chosen?: boolean
  /** Undefined until the server has answered. */
  readonly effects: Effects | undefined
  readonly failure: FailedText | undefined
  /** True if the effects changed before the confirmation. */
  readonly changed: boolean
  readonly outcome: DialogOutcome
  /** The name that must be typed. */
  readonly typed?: string
  /** The fields that would change, above the effects. */
  readonly planned?: ReactNode
  readonly children?: ReactNode
  onConfirm(): void
  onClose(): void
}

export function ConfirmDialog(props: Props) {
  const { title, none, chosen = true, effects, failure, changed, planned, children, ...rest } = props
  return (
    <Dialog title={title} onClose={rest.onClose}>
      {children}
      {failure === undefined ? null : <Failed {...failure} />}
      {chosen && effects === undefined && failure === undefined ? <Loading /> : null}
      {effects === undefined || failure !== undefined ? null : (
        <div className={styles.planned}>
          {planned}
          <EffectsList effects={effects} none={none} />
        </div>
      )}
      {changed ? <Notice severity="warning" title={resourceTexts.changed} announced /> : null}
      <OutcomeLine outcome={rest.outcome} />
      <Confirmation {...rest} ready={chosen && effects !== undefined && failure === undefined} />
    </Dialog>
  )
}

type ConfirmationProps = Pick<Props, 'label' | 'closed' | 'outcome' | 'typed' | 'onConfirm' | 'onClose'> & {
  readonly ready: boolean
}

/** The field for the name, if one is needed, and the buttons. */
function Confirmation({ label, closed, outcome, typed, ready, onConfirm, onClose }: ConfirmationProps) {
  const [name, setName] = useState('')
  const open = ready && closed === undefined && outcome.kind !== 'running' && (typed ?? '') === name
  return (
    <>
      {typed === undefined ? null : (
        <TextInput
          label={resourceTexts.typeName(typed)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <div className={styles.buttons}>
        <Button onClick={onConfirm} disabled={!open}>
          {label}
        </Button>
        <Button variant="default" onClick={onClose}>
          {resourceTexts.back}
        </Button>
        {closed === undefined ? null : <span className={styles.note}>{closed}</span>}
      </div>
    </>
  )
}
