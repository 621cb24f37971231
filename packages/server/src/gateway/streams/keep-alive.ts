// Is the other side of a socket still there? Asked by a ping; who has not answered by the next one is gone.

import type { WebSocket } from 'ws'

export function keepAlive(socket: WebSocket, everyMs: number): void {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    // One that is not read cannot be heard.
    if (!answered && !socket.isPaused) socket.terminate()
    answered = false
    if (socket.readyState === socket.OPEN) socket.ping()
  }, everyMs)
  socket.on('close', () => clearInterval(timer))
}
