// The list of pages, at the left of wide screens and in a drawer on narrow ones.

import { Link } from '@tanstack/react-router'
import { mayDo, useSession } from '../api/session.tsx'
import { texts } from '../texts/en.ts'
import { PAGES, PLATFORM_PAGES } from './pages.ts'
import styles from './shell.module.css'

export function Navigation({ onChosen }: { onChosen?(): void }) {
  const { tenant, me } = useSession()
  const chosen = onChosen === undefined ? {} : { onClick: onChosen }
  return (
    <nav className={styles.pages} aria-label={texts.shell.navigation}>
      {PAGES.map(({ to, label, exact }) => (
        <Link
          key={to}
          to={to}
          params={{ tenant }}
          activeOptions={{ exact }}
          className={styles.page}
          {...chosen}
        >
          {label}
        </Link>
      ))}
      {mayDo(me, 'tenants:choose') ? <hr className={styles.divider} /> : null}
      {mayDo(me, 'tenants:choose')
        ? PLATFORM_PAGES.map(({ to, label, exact }) => (
            <Link key={to} to={to} activeOptions={{ exact }} className={styles.page} {...chosen}>
              {label}
            </Link>
          ))
        : null}
    </nav>
  )
}
