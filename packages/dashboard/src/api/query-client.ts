// The cache of everything that the server sent. Data is never old by age: the change stream names what must be read again.

import { QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut } from './failure.ts'

export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError(error) {
        if (isSignedOut(error)) onSignedOut()
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 5 * 60_000,
        // The client retries calls that are safe to repeat; a second retry here would only delay the message.
        retry: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: 'always',
      },
    },
  })
}
