// Connections on which nobody has asked anything yet. Node does not count them among the idle ones, so that one of them
// would keep a server from stopping until its keep-alive time is over.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface SilentConnections {
  close(): void
}

export function watchSilentConnections(server: Server, secure: boolean): SilentConnections {
  const open = new Set<Socket>()
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return {
    close() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}
