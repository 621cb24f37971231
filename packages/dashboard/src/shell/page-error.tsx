// A page that could not be loaded or shown, for example because a newer version has replaced its files.

import { Button } from '@mantine/core'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/en.ts'

export function PageError() {
  return (
    <Notice severity="error" title={texts.failures.page} announced>
      <p>{texts.failures.pageNext}</p>
      <div>
        <Button variant="default" size="compact-sm" onClick={() => location.reload()}>
          {texts.failures.reload}
        </Button>
      </div>
    </Notice>
  )
}
