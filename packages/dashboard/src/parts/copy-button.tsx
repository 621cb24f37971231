// Copies a text, and reports it.

import { useEffect, useState } from 'react'
import { texts } from '../texts/en.ts'
import styles from './copy-button.module.css'
import { Icon } from './icon.tsx'

const SHOWN_MS = 2_000

export function CopyButton({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <button
      type="button"
      className={styles.copy}
      aria-label={texts.foot.copyOf(text)}
      onClick={() => void copy()}
    >
      <Icon name={copied ? 'check' : 'copy'} size={14} />
      <span role="status">{copied ? texts.foot.copied : texts.foot.copy}</span>
    </button>
  )
}
