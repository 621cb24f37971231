// Asks before a change that interrupts or destroys something: its effects, and a button that names them. If data or a
// machine is lost, the person types the name.

import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { texts } from '../../texts/en.ts'
import styles from './confirm-dialog.module.css'

interface Props {
  readonly opened: boolean
  readonly title: string
  /** The effects. */
  readonly children: ReactNode
  /** The name that the person must type; absent if the effects are enough. */
  readonly name?: string
  /** The button, which names what it does. */
  readonly act: string
  readonly running: boolean
  onAct(): void
  onClose(): void
}

export function ConfirmDialog({ opened, title, onClose, ...rest }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      lockScroll={false}
      closeButtonProps={{ 'aria-label': texts.shell.closeNavigation }}
    >
      <Content onClose={onClose} {...rest} />
    </Modal>
  )
}

/** A component of its own, so that each opening begins with an empty field. */
function Content({ children, name, act, running, onAct, onClose }: Omit<Props, 'opened' | 'title'>) {
  const [typed, setTyped] = useState('')
  const ready = (name === undefined || typed.trim() === name) && !running
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (ready) onAct()
  }
  return (
    <form className={styles.content} onSubmit={submit}>
      {children}
      {name === undefined ? null : (
        <TextInput
          label={texts.confirm.typeName(name)}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
      <div className={styles.buttons}>
        <Button variant="default" onClick={onClose}>
          {texts.confirm.cancel}
        </Button>
        <Button type="submit" className={styles.danger} disabled={!ready}>
          {act}
        </Button>
      </div>
    </form>
  )
}
