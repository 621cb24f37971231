// Signing out: the server ends the sign-in, and the cache of this tab is emptied.

import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useSession } from '../api/session.tsx'

export function useSignOut(): () => Promise<void> {
  const { client } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    await client.tenants.signOut()
    await navigate({ to: '/login', search: {} })
    queries.clear()
  }
}
