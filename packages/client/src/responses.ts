// Answers beside those that the contract names.

import { type Infer, list, object, type Shape, type writtenShape } from '@holdfast/contract'

/** A list that comes whole. */
export const itemsShape = <T>(item: Shape<T>) => object({ items: list(item) })

export type Written = Infer<typeof writtenShape>
