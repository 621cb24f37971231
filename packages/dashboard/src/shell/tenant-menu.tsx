// Changes the tenant of the page, for platform administrators.

import { Menu, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTenants } from '../api/use-tenants.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/en.ts'
import styles from './shell.module.css'

export function TenantMenu({ current }: { readonly current: string }) {
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const [q, setQ] = useState('')
  const { data = [] } = useTenants(q, opened)
  return (
    <Menu opened={opened} onChange={setOpened} position="bottom-start" width={260} trapFocus>
      <Menu.Target>
        <button type="button" className={styles.tenantButton} aria-label={texts.shell.changeTenant(current)}>
          <span className={styles.tenant}>{current}</span>
          <Icon name="chevron" size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <TextInput
          label={texts.shell.findTenant}
          size="xs"
          value={q}
          onChange={(event) => setQ(event.currentTarget.value)}
          data-autofocus
        />
        <div className={styles.tenants}>
          {data.map(({ id, name }) => (
            <Menu.Item key={id} onClick={() => void navigate({ to: '/t/$tenant', params: { tenant: id } })}>
              {name}
            </Menu.Item>
          ))}
          {data.length === 0 ? <p className={styles.noTenant}>{texts.shell.noTenant}</p> : null}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}
