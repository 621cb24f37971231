// A token that the server shows once. It is copied unseen and shown only on request, never in an attribute.

import { Button } from '@mantine/core'
import { useState } from 'react'
import { accessTexts } from '../../texts/en/access.ts'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly name: string
  /** Undefined if the answer that contained it was lost. */
  readonly token: string | undefined
  onClose(): void
}

export function OneTimeToken({ name, token, onClose }: Props) {
  const [shown, setShown] = useState(false)
  const [copied, setCopied] = useState('')
  const copy = async (text: string): Promise<void> => {
    // A browser may refuse the clipboard; the person can then show the token.
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setCopied(done ? accessTexts.copied : accessTexts.copyRefused)
  }
  if (token === undefined)
    return (
      <Dialog title={accessTexts.createdTitle(name)} onClose={onClose}>
        <p role="alert">{accessTexts.lost}</p>
      </Dialog>
    )
  return (
    <Dialog title={accessTexts.createdTitle(name)} onClose={onClose}>
      <p>{accessTexts.once}</p>
      {shown ? <code className={styles.value}>{token}</code> : null}
      <div className={styles.buttons}>
        <Button onClick={() => void copy(token)}>{accessTexts.copy}</Button>
        {shown ? null : (
          <Button variant="default" onClick={() => setShown(true)}>
            {accessTexts.show}
          </Button>
        )}
        <Button variant="default" onClick={onClose}>
          {accessTexts.close}
        </Button>
        <span role="status">{copied}</span>
      </div>
    </Dialog>
  )
}
