// The menu of the signed-in person: name and role, the color scheme, shortcuts, and signing out.

import { Menu } from '@mantine/core'
import { useSession } from '../api/session.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/en.ts'
import { chooseScheme, SCHEME_CHOICES, useSchemeChoice } from '../theme/scheme.ts'
import { AccountButton } from './account-button.tsx'
import styles from './shell.module.css'
import { useSignOut } from './use-sign-out.ts'

export function AccountMenu({ onShowKeys }: { onShowKeys(): void }) {
  const { me } = useSession()
  const chosen = useSchemeChoice()
  const signOut = useSignOut()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <AccountButton />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className={styles.accountLabel}>
          {texts.shell.role(me.token.name, me.token.role)}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>{texts.shell.scheme}</Menu.Label>
        {SCHEME_CHOICES.map((choice) => (
          <Menu.Item
            key={choice}
            onClick={() => chooseScheme(choice)}
            leftSection={
              <span className={styles.mark}>{choice === chosen ? <Icon name="check" /> : null}</span>
            }
            {...(choice === chosen ? { 'aria-current': true } : {})}
          >
            {texts.shell.schemes[choice]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={onShowKeys}>{texts.shell.keys}</Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{texts.shell.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
