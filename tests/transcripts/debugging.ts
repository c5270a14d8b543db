// Decides which calls of the tools that debug are frozen.

export const DEBUGGING = {
  debug: {
    empty: [{}],
    bad: [
      { error: 7 },
      { eval: 'x' },
      { error: 1, eval: 'x', retry: true },
      { error: 1, fix: '1', end: true },
      { error: 1, values: ['1'] },
      { hold: true },
      { watch: 'all', type: 'nonsense' },
    ],
  },
  inspect: {
    usual: [{ value: 'shop:*currency*' }, { value: 'shop:price', path: ['parameters'] }],
    empty: [{ value: 'shop::cents' }],
    'over-long': [{ value: 'shop::*long*', limit: 2 }],
    bad: [
      { value: '' },
      { value: '@999' },
      { value: '(list 1)' },
      { value: 'nonexistent' },
      { value: 'shop:price', path: ['nope'] },
    ],
  },
  observe: {
    usual: [
      { form: '(shop:total (list :lamp :chair))', functions: ['shop:total', 'shop:price'] },
      { form: '(shop:total (list :lamp :chair))', functions: ['shop:price'], mode: 'types' },
      { form: '(shop:total (list :lamp 1))', functions: ['shop:price'], where: '(symbolp thing)' },
      {
        form: '(shop:total (list :lamp 1))',
        functions: ['shop:total', 'shop:price'],
        compare: 'previous',
      },
    ],
    empty: [{ form: '1', functions: ['shop:price'] }],
    'over-long': [{ form: "(mapcar #'shop:price (list :a :bb :ccc))", functions: ['shop:price'], limit: 1 }],
    bad: [
      {},
      { form: '1', functions: [] },
      { form: '1', mode: 'calls' },
      { form: '1', functions: ['shop:price'], mode: 'cpu' },
      { form: '1', seconds: 1, functions: ['shop:price'] },
      { against: '1' },
      { form: '1', against: '2', mode: 'cpu' },
      { form: '1', where: 't' },
      { form: '(', functions: ['shop:price'] },
      { form: '1', functions: ['shop:with-price'] },
      { form: '1', functions: ['shop::order'] },
      { form: '1', functions: ['nonexistent'] },
      { form: '1', functions: ['cl:car'] },
      { form: '1', functions: ['shop:price'], where: '(= size 1)' },
    ],
  },
};
