// The list of pages, at the left of wide screens and in a drawer on narrow ones.

import { Link } from '@tanstack/react-router'
import { useSession } from '../api/session.tsx'
import { texts } from '../texts/en.ts'
import { PAGES } from './pages.ts'
import styles from './shell.module.css'

export function Navigation({ onChosen }: { onChosen?(): void }) {
  const { tenant } = useSession()
  return (
    <nav className={styles.pages} aria-label={texts.shell.navigation}>
      {PAGES.map(({ to, label, exact }) => (
        <Link
          key={to}
          to={to}
          params={{ tenant }}
          activeOptions={{ exact }}
          className={styles.page}
          {...(onChosen === undefined ? {} : { onClick: onChosen })}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
