SELECT
    c.customer_id,
    c.company_name,
    COUNT(o.order_id) AS order_count,
    SUM(od.unit_price * od.quantity * (1 - od.discount)) AS turnover
FROM customers AS c
LEFT JOIN orders AS o
    ON o.customer_id = c.customer_id
LEFT JOIN order_details AS od
    ON od.order_id = o.order_id
WHERE c.country IN ('Germany', 'Austria', 'Switzerland')
    AND (o.shipped_date IS NULL OR o.shipped_date BETWEEN '2023-01-01' AND '2023-12-31')
GROUP BY
    c.customer_id,
    c.company_name
HAVING
    COUNT(o.order_id) > 2
    OR SUM(od.quantity) >= 100
ORDER BY
    turnover DESC NULLS LAST,
    c.company_name
LIMIT 25;
