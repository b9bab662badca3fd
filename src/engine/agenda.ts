/** What is due when. The earliest are found without looking at the others, of which there may be a hundred thousand. */

export interface Agenda<Item> {
  /** Says when an item is due: instead of what was said of it before. */
  set(item: Item, due: number): void;
  delete(item: Item): void;
  /** Takes out as many as `most` of those that are due: the earliest first, and of equal ones that which was set first. */
  takeDue(now: number, most: number): Item[];
}

interface Entry<Item> {
  readonly item: Item;
  readonly due: number;
  readonly order: number;
}

/** Entries that hold no more stay in the heap until their time comes, or until they are more than the others. */
const LEAST_SWEPT = 64;

export function createAgenda<Item>(): Agenda<Item> {
  const current = new Map<Item, Entry<Item>>();
  /** A binary heap: no entry is before the one at half of its place. */
  let heap: Entry<Item>[] = [];
  let order = 0;

  const isCurrent = (entry: Entry<Item>) => current.get(entry.item) === entry;

  const sweep = () => {
    if (heap.length < 2 * current.size + LEAST_SWEPT) return;
    // What is in order is a heap.
    heap = heap.filter(isCurrent).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  };

  return {
    set(item, due) {
      order += 1;
      const entry = { item, due, order };
      current.set(item, entry);
      push(heap, entry);
      sweep();
    },
    delete(item) {
      current.delete(item);
      sweep();
    },
    takeDue(now, most) {
      const taken: Item[] = [];
      for (let first = heap[0]; first !== undefined && first.due <= now && taken.length < most; first = heap[0]) {
        pop(heap);
        if (!isCurrent(first)) continue;
        current.delete(first.item);
        taken.push(first.item);
      }
      return taken;
    },
  };
}

type Placed = Pick<Entry<unknown>, 'due' | 'order'>;

const isBefore = (a: Placed, b: Placed): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

function push<E extends Placed>(heap: E[], entry: E): void {
  let place = heap.length;
  for (;;) {
    const above = Math.floor((place - 1) / 2);
    const parent = heap[above];
    if (parent === undefined || isBefore(parent, entry)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = entry;
}

/** Takes out the first. */
function pop<E extends Placed>(heap: E[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    const below = 2 * place + 1;
    const [left, right] = [heap[below], heap[below + 1]];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (child === undefined || isBefore(last, child)) break;
    heap[place] = child;
    place = isRight ? below + 1 : below;
  }
  heap[place] = last;
}
