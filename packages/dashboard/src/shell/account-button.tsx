// The button that opens the menu of the signed-in person.

import type { ButtonHTMLAttributes } from 'react'
import { useSession } from '../api/session.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/en.ts'
import styles from './shell.module.css'

export function AccountButton(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  const { me } = useSession()
  return (
    <button type="button" {...props} className={styles.account}>
      <span className={styles.accountName}>{texts.shell.role(me.token.name, me.token.role)}</span>
      <span className={styles.accountShort}>{texts.shell.account}</span>
      <Icon name="chevron" size={14} />
    </button>
  )
}
