// Starts the dashboard in the page.

import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries, router } from './router.ts'
import { useScheme } from './theme/scheme.ts'
import './theme/mantine.css'
import './theme/tokens.css'
import './theme/base.css'

/** Variables and classes come from files, because the content security policy allows no style element of a script. */
function Dashboard() {
  const scheme = useScheme()
  return (
    <MantineProvider forceColorScheme={scheme} withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no element with the id root')
createRoot(place).render(
  <StrictMode>
    <Dashboard />
  </StrictMode>,
)
