// The list of pages, at the left of wide screens and in a drawer on narrow ones.

import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { mayDo, useSession } from '../api/session.tsx'
import { PlainLink, pathOf } from '../parts/plain-link.tsx'
import { texts } from '../texts/en.ts'
import { PAGES, PLATFORM_PAGES } from './pages.ts'
import styles from './shell.module.css'

export function Navigation({ onChosen }: { onChosen?(): void }) {
  const { tenant, me } = useSession()
  const pathname = useLocation({ select: (location) => location.pathname })
  const chosen = onChosen === undefined ? {} : { onClick: onChosen }
  const link = ({ to, label, exact }: (typeof PAGES | typeof PLATFORM_PAGES)[number]): ReactNode => {
    const path = pathOf(to, { tenant })
    const open = pathname === path || (!exact && pathname.startsWith(`${path}/`))
    return (
      <PlainLink
        key={to}
        to={to}
        params={{ tenant }}
        className={styles.page}
        {...(open ? { 'aria-current': 'page' } : {})}
        {...chosen}
      >
        {label}
      </PlainLink>
    )
  }
  const administers = mayDo(me, 'tenants:choose')
  return (
    <nav className={styles.pages} aria-label={texts.shell.navigation}>
      {PAGES.map(link)}
      {administers ? <hr className={styles.divider} /> : null}
      {administers ? PLATFORM_PAGES.map(link) : null}
    </nav>
  )
}
