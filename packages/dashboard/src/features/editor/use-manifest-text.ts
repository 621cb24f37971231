// The text under edit with its faults: those of the rules while a person types, and those of the server after a preview, until
// the text changes. The text stays in memory: it is in no address, storage or cache.

import type { Rejection } from '@holdfast/contract'
import { useEffect, useRef, useState } from 'react'
import { type CheckedText, checkText, locateRejections } from './check-text.ts'

const PAUSE_MS = 200

export interface ManifestText {
  readonly checked: CheckedText
  /** True if the faults come from the server. */
  readonly ofServer: boolean
  /** The text as it is now; it does not cause a render. */
  current(): string
  change(text: string): void
  /** Checks the text without waiting for a pause. */
  checkNow(): CheckedText
  showRejections(rejections: readonly Rejection[]): void
}

export function useManifestText(initial: string, deployment?: string): ManifestText {
  const text = useRef(initial)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [checked, setChecked] = useState(() => checkText(initial, deployment))
  const [ofServer, setOfServer] = useState(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  const checkNow = (): CheckedText => {
    clearTimeout(timer.current)
    const found = checkText(text.current, deployment)
    setChecked(found)
    setOfServer(false)
    return found
  }
  return {
    checked,
    ofServer,
    current: () => text.current,
    change(next) {
      text.current = next
      clearTimeout(timer.current)
      timer.current = setTimeout(checkNow, PAUSE_MS)
    },
    checkNow,
    showRejections(rejections) {
      const { manifest } = checkText(text.current, deployment)
      if (manifest === undefined) return
      setChecked({ manifest, faults: locateRejections(manifest, rejections) })
      setOfServer(true)
    },
  }
}
