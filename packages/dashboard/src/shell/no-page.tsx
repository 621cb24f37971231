// The answer to an address without a page.

import { Link } from '@tanstack/react-router'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/en.ts'

export function NoPage() {
  return (
    <Notice severity="warning" title={texts.pages.notFound}>
      <p>{texts.pages.notFoundNext}</p>
      <p>
        <Link to="/">{texts.pages.toOverview}</Link>
      </p>
    </Notice>
  )
}
