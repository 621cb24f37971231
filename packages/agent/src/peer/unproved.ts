// The connections to the peer port that have not proved a key yet. Strangers can open any number of them, so each address has
// a limit, and the addresses at which no peer is known share one. The oldest connection makes room for a new one: a peer
// proves its key at once, and a stranger never does.

import type { Socket } from 'node:net'

const MAX_PER_ADDRESS = 16
const MAX_STRANGERS = 64

interface Unproved {
  readonly socket: Socket
  readonly address: string
  readonly isStranger: boolean
}

export interface UnprovedConnections {
  /** Limits the connection until it has proved its key or is closed. */
  add(socket: Socket): void
  /** The connection no longer counts. */
  prove(socket: Socket): void
}

/** `isPeerAddress`: whether a peer is known at the IP address. */
export function limitUnproved(isPeerAddress: (address: string) => boolean): UnprovedConnections {
  // In the order of arrival. A TLS socket has the same place as the connection below it.
  const waiting = new Map<string, Unproved>()
  function closeOldest(limit: number, isCounted: (one: Unproved) => boolean): void {
    const counted = [...waiting].filter(([, one]) => isCounted(one))
    for (const [place, { socket }] of counted.slice(0, Math.max(0, counted.length - limit))) {
      waiting.delete(place)
      socket.destroy()
    }
  }
  return {
    add(socket) {
      const place = placeOf(socket)
      const address = addressOf(socket)
      const isStranger = !isPeerAddress(address)
      waiting.set(place, { socket, address, isStranger })
      socket.once('close', () => {
        if (waiting.get(place)?.socket === socket) waiting.delete(place)
      })
      closeOldest(MAX_PER_ADDRESS, (one) => one.address === address)
      if (isStranger) closeOldest(MAX_STRANGERS, (one) => one.isStranger)
    },
    prove: (socket) => void waiting.delete(placeOf(socket)),
  }
}

/** A port that accepts both versions of IP shows an address of version 4 in the form of version 6. */
const addressOf = ({ remoteAddress = '' }: Socket): string => remoteAddress.replace(/^::ffff:(?=[\d.]+$)/, '')

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
