// Runs a command of the palette.

import { useNavigate } from '@tanstack/react-router'
import { useSession } from '../api/session.tsx'
import type { Command } from '../palette/find-commands.ts'
import { chooseScheme } from '../theme/scheme.ts'
import { useSignOut } from './use-sign-out.ts'

export function useRunCommand(): (command: Command) => void {
  const { tenant } = useSession()
  const navigate = useNavigate()
  const signOut = useSignOut()
  return ({ target }) => {
    switch (target.kind) {
      case 'page':
        return void navigate({ to: target.to, params: { tenant } })
      case 'deployment':
        return void navigate({
          to: `/t/$tenant/deployments/$name/${target.tab}`,
          params: { tenant, name: target.name },
          search: {},
        })
      case 'plan':
        return void navigate({
          to: '/t/$tenant/deployments/$name/change',
          params: { tenant, name: target.name },
          search: { act: target.act },
        })
      case 'node':
        return void navigate({ to: '/t/$tenant/nodes/$node', params: { tenant, node: target.id } })
      case 'scheme':
        return chooseScheme(target.choice)
      case 'sign-out':
        return void signOut()
      case 'reference':
        return location.assign(`/docs/search?q=${encodeURIComponent(target.word)}`)
    }
  }
}
