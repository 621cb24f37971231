// Where a node is: the country and region that it reports, and the country that its join token attests.

import { readAll } from '@holdfast/client'
import type { Node } from '@holdfast/contract'
import { useQuery } from '@tanstack/react-query'
import type { NodePlace } from '../../texts/show-place.ts'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { useNode } from '../use-nodes.ts'

/** The server finds nodes by a part of their name, so that the answer may have other nodes too. */
export function usePlace({ id, name, labels }: Pick<Node, 'id' | 'name' | 'labels'>): NodePlace {
  const { client, tenant } = useSession()
  const { data: attested } = useQuery({
    queryKey: keys.nodes(tenant, `attested ${id}`),
    queryFn: async ({ signal }) => {
      const found = requireValue(
        await readAll((page) => client.nodes.summaries({ ...page, q: name }, { signal })),
      )
      return found.find((node) => node.id === id)?.country ?? null
    },
  })
  return { labels, attested }
}

/** The node by its id; undefined until it was read, and if it does not exist. */
export const useKnownNode = (id: string): Node | undefined => useNode(id).data
