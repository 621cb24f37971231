// The answer to an address without a page.

import { Link } from '@tanstack/react-router'
import { PageHead } from '../parts/page-head.tsx'
import { texts } from '../texts/en.ts'
import styles from './tenant-frame.module.css'

/** Outside of a tenant the page has no frame. */
export function NoPageAlone() {
  return (
    <main className={styles.alone}>
      <NoPage />
    </main>
  )
}

export function NoPage() {
  return (
    <>
      <PageHead title={texts.pages.notFound} />
      <p>
        {texts.pages.notFoundNext} <Link to="/">{texts.pages.toOverview}</Link>
      </p>
    </>
  )
}
