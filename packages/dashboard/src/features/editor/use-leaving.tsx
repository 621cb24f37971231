// Asks before a person leaves a text that is not stored. The browser asks itself when the tab is closed or loaded again.

import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { texts } from '../../texts/en.ts'

/** Returns the question, which is shown while the person wants to leave. */
export function useLeaving(hasUnsaved: () => boolean): ReactNode {
  const { status, proceed, reset } = useBlocker({
    // The end of a sign-in leads to the sign-in page at once.
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && next.fullPath !== '/login' && hasUnsaved(),
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  })
  return status === 'blocked' ? (
    <ConfirmDialog
      title={texts.editor.leaveTitle}
      label={texts.editor.leave}
      closed={undefined}
      outcome={{ kind: 'idle' }}
      onConfirm={proceed}
      onClose={reset}
    >
      <p>{texts.editor.leaveEffect}</p>
    </ConfirmDialog>
  ) : null
}
