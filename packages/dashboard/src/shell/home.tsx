// The address /ui: leads to the tenant of the token, and platform administrators to the platform.

import { Navigate } from '@tanstack/react-router'
import { explainFailure, isSignedOut } from '../api/failure.ts'
import { mayDo } from '../api/session.tsx'
import { useMe } from '../api/use-me.ts'
import { Failed } from '../parts/failed.tsx'
import styles from './tenant-frame.module.css'

export function Home() {
  const { data: me, error, refetch } = useMe()
  if (me !== undefined && mayDo(me, 'tenants:choose')) return <Navigate to="/platform" replace />
  if (me !== undefined) return <Navigate to="/t/$tenant" params={{ tenant: me.tenant.id }} replace />
  if (error === null || isSignedOut(error)) return null
  return (
    <main className={styles.alone}>
      <Failed {...explainFailure(error)} onRetry={() => void refetch()} />
    </main>
  )
}
