// The list of shortcuts, and the switch for single keys.

import { Button } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { texts } from '../texts/en.ts'
import styles from './keys-dialog.module.css'
import { singleKeysOn, switchSingleKeys } from './use-shortcuts.ts'

const KEYS = [
  ['Ctrl K', texts.keys.palette],
  ['/', texts.keys.filter],
  ['j k', texts.keys.walk],
  ['Enter', texts.keys.enter],
  ['?', texts.keys.help],
] as const

export function KeysDialog({ onClose }: { onClose(): void }) {
  const [on, setOn] = useState(singleKeysOn)
  const change = (): void => {
    switchSingleKeys(!on)
    setOn(!on)
  }
  return (
    <Dialog title={texts.keys.title} onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(([key, meaning]) => (
          <div key={key} className={styles.line}>
            <dt>
              <kbd className={styles.key}>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.line}>
        {texts.shell.singleKeys}
        <Button variant="default" size="compact-sm" role="switch" aria-checked={on} onClick={change}>
          {on ? texts.shell.on : texts.shell.off}
        </Button>
      </p>
    </Dialog>
  )
}
