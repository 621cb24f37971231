// Copies a text, and reports it.

import { useEffect, useState } from 'react'
import { texts } from '../texts/en.ts'
import styles from './copy-button.module.css'
import { Icon } from './icon.tsx'

const SHOWN_MS = 2_000
type Shown = 'copy' | 'copied' | 'refused'

export function CopyButton({ text }: { readonly text: string }) {
  const [shown, setShown] = useState<Shown>('copy')
  useEffect(() => {
    if (shown === 'copy') return
    const timer = setTimeout(() => setShown('copy'), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  const copy = async (): Promise<void> => {
    // A browser may refuse the clipboard; the text then stays to be selected.
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setShown(done ? 'copied' : 'refused')
  }
  return (
    <button
      type="button"
      className={styles.copy}
      aria-label={texts.foot.copyOf(text)}
      onClick={() => void copy()}
    >
      <Icon name={shown === 'copied' ? 'check' : 'copy'} size={14} />
      <span role="status">{texts.foot[shown]}</span>
    </button>
  )
}
